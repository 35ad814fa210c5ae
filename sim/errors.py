"""Errors are a code with values: `sim` says what is wrong, the reader's side says it in words."""


class SimError(ValueError):
    """Something that cannot be simulated.

    `code` is language-free (`"output_tokens_below_one"`); `values` hold what a message needs.
    """

    def __init__(self, code: str, **values: object):
        self.code = code
        self.values = values
        details = ", ".join(f"{name}={value!r}" for name, value in values.items())
        super().__init__(f"{code} ({details})" if details else code)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.code, self.values)  # from process to process with its values


def _again(code: str, values: dict[str, object]) -> SimError:
    return SimError(code, **values)


def require(condition: bool, code: str, **values: object) -> None:
    """Raise `SimError(code, **values)` unless the condition holds."""
    if not condition:
        raise SimError(code, **values)
