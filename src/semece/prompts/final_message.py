"""What of a reply is its final message: not thoughts, not the marks of turns, not a turn that nobody asked for."""

from __future__ import annotations

import re

_NAMED = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis|inner_monologue|seed:think|antthinking"

_FAMILIES: tuple[tuple[str, str], ...] = (
    (rf"<(?:{_NAMED})(?:\s[^<>\n]{{0,80}})?>", rf"</(?:{_NAMED})\s*>"),
    (r"\[THINK(?:ING)?\]", r"\[/THINK(?:ING)?\]"),
    (r"◁think▷", r"◁/think▷"),
    (
        r"<\|(?:begin_of_thought|start_thinking|thinking|think)\|>",
        r"<\|(?:end_of_thought|end_thinking|/thinking|/think)\|>",
    ),
    (r"<\|channel>\s*thought", r"<channel\|>"),
    (r"<unused94>", r"<unused95>"),
    (r"<start_working_out>", r"<end_working_out>"),
    (r"(?m:^Thinking\.\.\.$)", r"(?m:^\.\.\.done thinking\.$)"),
)
"""How a thought begins and how it ends, for each spelling."""

_TURN = (
    r"</s>|<eos>|<end_of_turn>|\[EOS\]|\[/?INST\]|<｜end▁of▁sentence｜>|<｜User｜>|<start_of_turn>user|"
    r"<\|(?:eot_id|eom_id|im_end|end|endoftext|end_of_text|end_of_turn|return|call|eos|user)\|>|"
    r"<\|END_(?:OF_TURN_TOKEN|RESPONSE)\|>|<\|im_start\|>\s*user|<\|start_header_id\|>\s*user"
)
"""Where a turn ends."""

_START = (
    r"<s>|<bos>|<start_of_turn>model|<｜Assistant｜>|<｜begin▁of▁sentence｜>|<\|begin_of_text\|>|<\|assistant\|>|"
    r"<\|im_start\|>\s*assistant|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|"
    r"<\|(?:begin|end)_of_solution\|>|<\|START_(?:OF_TURN_TOKEN|RESPONSE)\|>|<\|CHATBOT_TOKEN\|>"
)
"""Where one begins, and marks that say nothing."""

_MARK = re.compile(
    "|".join(
        [
            *(rf"(?<!`)(?P<open{i}>{begins})" for i, (begins, _) in enumerate(_FAMILIES)),
            *(rf"(?<!`)(?P<close{i}>{ends})" for i, (_, ends) in enumerate(_FAMILIES)),
            rf"(?P<turn>{_TURN})",
            rf"(?P<start>{_START})",
        ]
    ),
    re.IGNORECASE,
)
_FIRST_SIGNS = ("<", "[", "◁", "hinking")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_FINAL = re.compile(r"<\|channel\|>\s*final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_STRIPPED = re.compile(r"\s*(?:analysis|commentary)(?P<at_once>(?=[A-Z\"“'(*\d]))?")
_STRIPPED_FINAL = "assistantfinal"


_BLANK = " \t\r\n\v\f\x1c\x1d\x1e\x1f\x85\xa0\u00ad\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2060\u3000\ufeff"
"""What a text without a visible character is made of."""


def is_blank(text: str) -> bool:
    """Whether a reply has no text outside its thoughts.

    Examples
    --------
    >>> is_blank("<think>Lyon?</think> "), is_blank("Paris")
    (True, False)
    """
    return not final_message(text).strip(_BLANK)


def final_message(text: str) -> str:
    """Take out of a reply what is not its final message.

    Thoughts in every spelling that models use, also if one of the two marks is missing; the channels of the harmony
    format, whole or stripped to ``analysis...assistantfinal...``; the marks of turns, and what follows the end of one.
    A mark right after a backtick is what the text is about.

    Parameters
    ----------
    text : str
        A reply as it came.

    Returns
    -------
    str
        ``''`` if there were only thoughts.

    Examples
    --------
    >>> final_message("<think>Lyon? No.</think>Answer: Paris</s>")
    'Answer: Paris'
    >>> final_message("Lyon? No.[/THINK]Answer: Paris")
    'Answer: Paris'
    >>> final_message("analysisLyon? No.assistantfinalParis")
    'Paris'
    """
    text = _final_channel(text)
    return _outside_thoughts(text) if any(sign in text for sign in _FIRST_SIGNS) else text


def _final_channel(text: str) -> str:
    """Give the last final channel of a harmony reply; any other text as it is."""
    if "<|channel|>" in text:
        finals = list(_FINAL.finditer(text))
        if finals:
            return text[finals[-1].end() :]
        return "" if _CHANNEL.search(text) else text
    stripped = _STRIPPED.match(text)
    if stripped is None:
        return text
    place = text.rfind(_STRIPPED_FINAL)
    if place >= 0:
        return text[place + len(_STRIPPED_FINAL) :]
    return "" if stripped["at_once"] is not None else text


def _outside_thoughts(text: str) -> str:
    """Walk along the marks: a thought lasts to its end, a stray end makes a thought of all before it."""
    kept: list[str] = []
    place, within, said = 0, "", False
    for mark in _MARK.finditer(text):
        name = mark.lastgroup or ""
        if within and name != within:
            continue
        if not within:
            kept.append(text[place : mark.start()])
            said = said or bool(kept[-1].strip())
        place = mark.end()
        if name == "turn" and said:
            return "".join(kept)
        if name.startswith("close") and not within:
            kept, said = [], False
        within = name.replace("open", "close") if name.startswith("open") else ""
    return "".join(kept) + ("" if within else text[place:])
