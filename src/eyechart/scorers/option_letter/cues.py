"""The wordings by which a response declares its answer, per language: data for rule S5."""

import re

from eyechart.scorers.option_letter.mentions import CJK, CLOSING, words

LETTER_GAP = r"[\s\"'«「『《【〈(\[{<|:=→>-]{0,8}"
"""What may stand between a cue and its letter besides words."""

# --- English: noun, link, letter ------------------------------------------------------------------------------------

NOUNS = ("answer", "option", "choice", "selection", "pick", "ans", "one")
NOUNS_SINCE_2 = (*NOUNS, "letter")
NOUN_END = re.compile(r"s?\b(?=[^\w]|$)", re.IGNORECASE)
NEEDS_QUALIFIER = frozenset({"letter", "one", "pick"})
QUALIFYING = words(
    """final correct best right my our only likely most chosen selected suitable appropriate accurate probable true
    plausible fitting proper"""
)
DISQUALIFYING = words(
    """another other possible potential second next alternative first third last each every any wrong incorrect worst
    bad false tempting attractive no a an which what whether if unlikely"""
)
_COMPLEMENT = (
    r"(?:\s?\((?![A-Z]\))[^()\n]{1,40}\)|,[^,.:\n]{1,80},"
    r"|\s(?:to|for|of|in|that|which|I|we|here|based|choice|option|letter|should|from)\b"
    r"(?:(?!\b(?:options|choices|following|given|is|are|was|not|if)\b|n't|[.:=\n→]).){0,60}?)"
)
_IS = (
    r"is|would be|should be|must be|will be|has to be|was|seems to be|appears to be|'s|would therefore be"
    r"|is going to be|would have to be"
)
NOUN_LINK = re.compile(
    rf"[\"')\]】]{{0,3}}{_COMPLEMENT}??[\"')\]]{{0,2}}"
    rf"(?:\s(?:{_IS})\b|'s\b|\.?\s?(?::|=|→|⇒|->|=>|–|—)|\s-\s|-(?=[A-Z]\b))",
    re.IGNORECASE,
)
FILLING = re.compile(
    r"(?:[\s,]{0,2}(?:(?:most\s)?(?:likely|probably|clearly|definitely|indeed|therefore|simply|surely|thus|obviously|just"
    r"|still|certainly|actually|hence|be|is)\b,?"
    r"|(?:the\s)?(?:correct\s)?(?:option|choice|letter|answer|selection)\b(?:\s(?:is|labell?ed|marked|number|letter))?\s?:?)"
    r"){0,4}",
    re.IGNORECASE,
)

# --- English: subject, verb, letter ---------------------------------------------------------------------------------

VERBS = (
    "answer",
    "choose",
    "chose",
    "select",
    "pick",
    "go with",
    "going with",
    "go for",
    "opt for",
    "settle on",
    "settle for",
)
VERBS_SINCE_2 = (*VERBS, "meant")
VERB_END = re.compile(r"(?:d|en|ed|n)?\b", re.IGNORECASE)
SUBJECT = re.compile(
    r"(?:\b(?:I|we|the (?:assistant|model))(?:'(?:d|ll|m|ve|re))?|\blet's|\blet us)"
    r"(?:\s(?:would|will|have|had|am|are|shall|must|should|can|to|rather|therefore|thus|still|also|likely|probably"
    r"|definitely|confidently|now|then|finally|hereby|just|hence)){0,4}\s$",
    re.IGNORECASE,
)
HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|when|unless|suppose|assuming|why|should|would|had) (?:option )?\Z", re.IGNORECASE
)
SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assume|assuming)(?: that)?(?: (?:the|my|our))?(?: [a-z]+)? \Z",
    re.IGNORECASE,
)
CONDITION = re.compile(r"\bif\b|\bhad (?:it|the|this|that)\b|\bwere (?:it|the)\b", re.IGNORECASE)
# Of two declarations under opposite conditions neither holds: "if it is on, the answer is B; otherwise D is it".
OTHER_CASE = re.compile(
    r"\b(?:otherwise|or else|if not),?\s(?:the\s|my\s)?(?:correct\s|right\s|best\s)?\Z", re.IGNORECASE
)
FORCED_CHOICE = re.compile(r"\bif (?:I|we) (?:had|have|must|were forced|were to|need)\b|\bif forced\b", re.IGNORECASE)
CONDITIONAL_VERB = re.compile(r"\b(?:would|might|could)\b", re.IGNORECASE)

# --- English: letter, verdict ---------------------------------------------------------------------------------------

VERDICT = re.compile(
    rf"{CLOSING}{{0,3}}(?:\s?\([^()\n]{{0,60}}\))?(?:\s(?:option|choice|answer))?"
    r"(?:\s(?:is|would be|must be|should be|has to be|will be|was)|'s)\s"
    r"(?:(?:clearly|definitely|indeed|therefore|obviously|thus|most\slikely|probably|likely|certainly|surely|actually|also"
    r"|the\sonly)\s){0,2}"
    r"(?:the\s|my\s|our\s)?(?:(?:most|final|likely|probable|appropriate|accurate|suitable|plausible|single)\s){0,3}"
    r"(?:correct\b|answer\b|option\b(?=\s(?:that|which))"
    r"|(?:right|best|appropriate|accurate)(?=\s?(?:[.,;!)\n]|$)"
    r"|\s(?:answer|option|choice|one|selection|letter|match|fit|because|since|as|and|here|description)\b))",
    re.IGNORECASE,
)

# --- other scripts and languages ------------------------------------------------------------------------------------

_FILL_CJK = (
    r"(?:\s?(?:应该|應該|应当|应|應|就|则|則|只能|最终|正确|正確|的|为|為|是|选|選|项|項|择|擇|我|因此|は|が"
    r"|:|=|→|->|-|】|\]|\)|」|』|》|>))"
)
CUES = (
    # Chinese. The bare noun 选项 is judged apart (OPTION_NOUN): it also introduces a discussion.
    re.compile(
        r"(?:(?:答案|正[确確](?:选项|選項|的|项)|应[选選]|故[选選]|[选選](?!项|項|出|取|中))"
        rf"{_FILL_CJK}{{0,5}}|选项(?:是|为|:)|選項(?:是|為|:)){LETTER_GAP}(?P<letter>[A-Za-z])"
    ),
    # Japanese
    re.compile(
        r"(?:正解|正答|正しい(?:答え|選択肢|もの)|答え|解答|回答|答)\s?(?:は|が|:|=|】)?"
        rf"{_FILL_CJK}{{0,2}}{LETTER_GAP}(?P<letter>[A-Za-z])"
    ),
    re.compile(r"(?P<letter>[A-Z])[」』)]?\s?を(?:選|えら)"),
    # Korean
    re.compile(rf"(?:정답|해답|답변|답)\s?(?:은|는|이|:|=)?{LETTER_GAP}(?P<letter>[A-Za-z])"),
    # letter, verdict
    re.compile(
        r"(?P<letter>[A-Z])[)」』】]?\s?(?:选项|選項|项|項)?\s?(?:就|才|应该|应当)?(?:是|为|為)?(?:唯一|最)?"
        r"(?:正[确確]|对的|對的|正解|符合|合适|合適|佳)"
    ),
    re.compile(r"(?P<letter>[A-Z])[)」』]?\s?(?:が|は)(?:正解|正しい|答え|適切)"),
    re.compile(r"(?P<letter>[A-Z])[)]?\s?(?:번)?(?:가|이)\s?(?:정답|맞|옳|답)"),
)
_SINGLE_NOUNS = """respuesta réponse reponse antwort lösung resposta risposta antwoord odpowiedź ответ відповідь cevap
    yan\u0131t jawabannya jawaban svaret απάντηση الإجابة الجواب उत्तर คำตอบ"""
FOREIGN_NOUNS = (
    *sorted(words(_SINGLE_NOUNS)),
    *("đáp án", "opción correcta", "opção correta", "alternativa correta", "opzione corretta", "bonne option"),
)
# Up to two adjectives, a link, articles and the word for "option". Negated forms do not fit the link.
FOREIGN_NOUNS_SINCE_2 = (*FOREIGN_NOUNS, "option correcte", "richtige option", "opção certa", "réponse correcte")
_FOREIGN_IS = "es|est|ist|è|é|to|is|är|adalah|là|คือ|هي|هو|है"
_FOREIGN_LINK = (
    r"(?:\s(?!(?:no|nicht|pas|não|non|nao|niet|nie|не|ni)\b)[^\W\d_]{2,12}){0,2}?"
    r"(?:\s?(?:'?:|=|→|–|—|-)|\s?(?:VERBS))"
    r"(?:\s?(?:\b(?:la|el|die|der|das|a|opción|option|opção|letra|lettre|opzione|alternativa|буква|вариант)\b|:"
    r"|l'option)){0,3}"
    rf"{LETTER_GAP}(?=(?-i:[A-Z]))"
)
FOREIGN_LINK = re.compile(_FOREIGN_LINK.replace("VERBS", _FOREIGN_IS), re.IGNORECASE)
FOREIGN_LINK_SINCE_2 = re.compile(
    _FOREIGN_LINK.replace("VERBS", f"{_FOREIGN_IS}|lautet|sería|serait|sarebbe"), re.IGNORECASE
)
FOREIGN_CHOOSING = ("wähle", "choisis", "elijo", "elegiría", "escojo", "escolho", "scelgo")
FOREIGN_CHOSEN = re.compile(
    r"\s(?:(?:die|la|el|a)\s)?(?:option\s|antwort\s|opción\s|respuesta\s|opção\s|opzione\s|l'option\s|réponse\s"
    rf"|lettre\s|letra\s)?{LETTER_GAP}(?=(?-i:[A-Z]))",
    re.IGNORECASE,
)
OPTION_NOUN = re.compile(rf"[选選][项項]\s?{LETTER_GAP}(?P<letter>[A-Z])")
CJK_NEGATED_CUE = re.compile(r"(?:不应?该?|不能|别|勿|未|没|没有|不要|不可|错误的?|錯誤的?|不正确的?|非)\s?$")
CJK_CLAUSE_END = re.compile(r"\s?(?:[。.,;!?\n]|$|是?正[确確]|是?对)")
IS_CJK = re.compile(rf"[{CJK}]")
