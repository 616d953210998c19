"""Sentences that tell a secret: `PIN 1234`, `password: …`, the number of an account after its name."""

import re

_IS = r"(?:is|was|ist|lautet|est)\W"
_NUMBER = r"[ -]?(?:number|nummer|no|nr|num|n°)"
_IDENTIFIERS = (
    "(?:reise)?pass(?:port|eport)?", "personalausweis", "perso", "driv(?:er'?s|ing) licen[cs]e", "nir", "nhs",
    "ahv", "avs", "num[eé]ro de s[eé]curit[eé] sociale", "steuer-?id(?:nr)?", "steuernummer", "idnr", "rvnr", "svnr",
    "(?:sozial|renten|kranken)versicherungs(?:nr|nummer)", "cnp", "jmbg", "cnic", "mrn", "medicare", "medical record",
    "(?:member|patient|subscriber|medicare|medicaid|insurance) id",
)  # fmt: skip
_DAY = r"(?:\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4})"
_NAMES = (
    "pass(?:word|code|phrase|wort)", "passwd", "pwd", "pw", "kennwort", "mot de passe",
    "(?:api|secret|private)[ _-]?key", "(?:access|session|auth)[ _-]?token", "mother'?s maiden name",
    "geburtsname der mutter", "nom de jeune fille de (?:sa|votre|la) m[eè]re",
)  # fmt: skip
# After `is` these tell of a secret, and not what it is.
_TELLING = r"(?:\w+ed|an?|correct|incorrect|invalid|missing|not|out|re?set|the|too|unknown|valid|weak|wrong)\b"
_TOLD = (
    rf"(?:pin|geheimzahl|code secret)(?:{_NUMBER}|[ -]code)?\W{{0,3}}(?:{_IS})?\s{{0,2}}\d{{4,8}}(?!\d)",
    rf"c(?:vv2?|vc2?)\W{{1,3}}(?:{_IS})?\s{{0,2}}\d{{3,4}}(?!\d)",
    rf"(?:{'|'.join(_NAMES)})(?:\s{{0,2}}[:=]\s{{0,2}}|\s{_IS}(?!{_TELLING}))\S",
    r"bearer\s[\w.~+/-]{16,}",
    rf"(?:account|acct|konto|passport|licen[cs]e|social security|social insurance){_NUMBER}\W{{0,3}}(?:{_IS})?\d{{6,}}",
    rf"(?:{'|'.join(_IDENTIFIERS)})(?:{_NUMBER})?(?!\W{{0,3}}(?:{_IS})?{_DAY})\W{{0,3}}(?:{_IS})?"
    r"(?:[ ./-]?[a-z]{0,2}[ ./-]?\d){5}",
)
_SECRET = re.compile(rf"(?<![^\W_])(?:{'|'.join(_TOLD)})", re.IGNORECASE)


def tells_secret(text: str) -> bool:
    return _SECRET.search(text) is not None
