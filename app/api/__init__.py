"""The HTTP door: parse, call one service, answer."""
