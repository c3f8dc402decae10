"""One figure with its words as an HTML page that loads nothing; its picture is part of the page."""

import base64
import html
import io
from typing import TYPE_CHECKING

from eyechart.reports._printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · eyechart</title>
<style>
body {{
  margin: 0 auto; max-width: 70rem; padding: 1.5rem;
  font: 1rem/1.5 system-ui, sans-serif; color: #1f2328; background: #fff;
}}
img {{ max-width: 100%; height: auto; }}
p {{ max-width: 70ch; color: #5c6570; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<img src="data:image/png;base64,{picture}" alt="{words}">
<p>{words}</p>
<p>{notice}</p>
</main>
</body>
</html>
"""


def figure_page(figure: "Figure", title: str, words: str, notice: str) -> str:
    """Return the page; every text is escaped."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return _PAGE.format(
        title=html.escape(printable(title)),
        picture=base64.b64encode(buffer.getvalue()).decode(),
        words=html.escape(printable(words)),
        notice=html.escape(printable(notice)),
    )
