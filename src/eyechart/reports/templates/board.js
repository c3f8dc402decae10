"use strict";
(() => {
  const table = document.getElementById("sortable");
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  const original = [...body.rows];
  const references = (row) => row.classList.contains("reference") || row.classList.contains("mean");
  const compare = (index, sign) => (first, second) => {
    if (references(first) !== references(second)) return references(first) ? 1 : -1;
    const [a, b] = [first, second].map((row) => row.cells[index].dataset.value);
    if ((a === "") !== (b === "")) return a === "" ? 1 : -1;
    const numbers = [a, b].map(Number);
    return sign * (numbers.some(Number.isNaN) ? a.localeCompare(b) : numbers[0] - numbers[1]);
  };
  const sort = (key, direction) => {
    const index = headings.findIndex((heading) => heading.dataset.key === key);
    if (index < 0) return;
    headings.forEach((heading) => heading.removeAttribute("aria-sort"));
    headings[index].setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    body.append(...[...original].sort(compare(index, sign)));
  };
  const follow = () => {
    const [key, direction] = decodeURIComponent(location.hash.slice(1)).split("=");
    if (direction) {
      sort(key, direction === "ascending" ? "ascending" : "descending");
      return;
    }
    headings.forEach((heading) => heading.removeAttribute("aria-sort"));
    body.append(...original);
  };
  headings.forEach((heading) => heading.querySelector("button").addEventListener("click", () => {
    const text = heading.classList.contains("text") || heading.dataset.key === "rank";
    const first = text ? "ascending" : "descending";
    const other = text ? "descending" : "ascending";
    location.hash = `${encodeURIComponent(heading.dataset.key)}=${heading.getAttribute("aria-sort") === first ? other : first}`;
  }));
  addEventListener("hashchange", follow);
  follow();
})();
