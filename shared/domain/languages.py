"""Language tags in words that every model knows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ar": "Arabic", "bg": "Bulgarian", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
        "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
        "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician",
        "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian",
        "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lb": "Luxembourgish",
        "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ms": "Malay", "mt": "Maltese",
        "nb": "Norwegian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
        "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian",
        "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian",
        "vi": "Vietnamese", "zh": "Chinese",
    }
)  # fmt: skip


def language_name(tag: str) -> str:
    """`German (de)`, `Portuguese (pt-BR)`; the tag alone where the language has no name here."""
    name = _NAMES.get(tag.split("-")[0].lower())
    return f"{name} ({tag})" if name else f"the language with the tag {tag}"
