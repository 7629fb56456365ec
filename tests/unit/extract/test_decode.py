"""From bytes to text where the encoding is certain."""

import pytest

from shared.adapters.extract.decode import decode, tidy

SENTENCE = "Grüße aus Köln, 12 Stück zu 3 €"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_unicode_is_recognised_with_a_mark_and_without(encoding: str) -> None:
    assert decode(SENTENCE.encode(encoding)) == SENTENCE


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be", "utf-32-be"])
def test_a_mark_is_believed_even_when_the_file_was_cut(mark: str) -> None:
    data = ("\ufeff" + SENTENCE).encode(mark)[:-1]

    text = decode(data)

    assert text is not None
    assert text.startswith(SENTENCE[:-1])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("words", ["Привет, как дела сегодня?", "Καλημέρα σε όλους εδώ", "hi"])
def test_utf16_without_a_mark_is_recognised_in_other_scripts(words: str, encoding: str) -> None:
    assert decode(words.encode(encoding)) == words


@pytest.mark.parametrize("padded", [b"a\0bc", b"Gr\xc3\xbc\xc3\x9fe\0\r\n" * 50, b"name\0\0\0\0value of it"])
def test_utf8_with_nul_in_it_stays_utf8(padded: bytes) -> None:
    assert decode(padded) == padded.decode()


def test_the_declared_charset_is_used_where_utf8_does_not_fit() -> None:
    data = SENTENCE.encode("windows-1252")

    assert decode(data, content_type='text/plain; charset="windows-1252"') == SENTENCE
    assert decode(data, content_type="text/plain; charset=no-such-charset") is None


def test_utf8_comes_before_a_wrong_declaration() -> None:
    assert decode(SENTENCE.encode(), content_type="text/plain; charset=iso-8859-1") == SENTENCE


def test_an_old_encoding_without_a_declaration_is_not_certain() -> None:
    assert decode(SENTENCE.encode("windows-1252")) is None


def test_noise_that_happens_to_be_valid_is_not_text() -> None:
    assert decode(bytes(range(32)) * 100) is None


def test_tidy_text_has_no_nul_and_one_kind_of_line_end() -> None:
    assert tidy("a\0\r\nb\rc\n") == "a\nb\nc\n"
