"""A clock for tests to move."""


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now
