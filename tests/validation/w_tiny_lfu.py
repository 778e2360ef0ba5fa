"""An independent W-TinyLFU from the paper, over lists and dictionaries, to compare with the engine's.

G. Einziger, R. Friedman, B. Manes: TinyLFU: a highly efficient cache admission policy, ACM Transactions on
Storage 13(4), 2017. Size and hashes of the sketch, which the paper leaves open, are the engine's.
"""

from collections import Counter, OrderedDict

WORD = 2**64 - 1
ROWS = (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1)


class FrequencySketch:
    """Count-min sketch with minimal increment: up to 15, halved after ten uses for each entry."""

    def __init__(self, capacity: int) -> None:
        """Start with all counters at 0."""
        self.columns = 64
        while self.columns < 4 * capacity:
            self.columns *= 2
        self.period = 10 * capacity
        self.uses = 0
        self.counters: Counter[tuple[int, int]] = Counter()

    def _cells(self, key: int) -> list[tuple[int, int]]:
        cells = []
        for row, multiplier in enumerate(ROWS):
            product = ((key ^ (key >> 32)) + 1 & WORD) * multiplier & WORD
            cells.append((row, ((product >> 32) ^ (product >> 52)) % self.columns))
        return cells

    def frequency(self, key: int) -> int:
        """Return the least of the key's counters."""
        return min(self.counters[cell] for cell in self._cells(key))

    def use(self, key: int) -> None:
        """Count a use: increment the least counters."""
        frequency = self.frequency(key)
        if frequency < 15:
            for cell in self._cells(key):
                if self.counters[cell] == frequency:
                    self.counters[cell] += 1
        self.uses += 1
        if self.uses >= self.period:
            self.uses //= 2
            self.counters = Counter({cell: count // 2 for cell, count in self.counters.items()})


class WTinyLfu:
    """The window, probation and the protected entries, each from the least recently used on."""

    def __init__(self, capacity: int, window: float = 0.01) -> None:
        """Start empty."""
        self.window_size = max(1, int(capacity * window))
        self.main_size = capacity - self.window_size
        self.protected_size = self.main_size * 4 // 5
        self.sketch = FrequencySketch(capacity)
        self.window: OrderedDict[int, None] = OrderedDict()
        self.probation: OrderedDict[int, None] = OrderedDict()
        self.protected: OrderedDict[int, None] = OrderedDict()

    def access(self, key: int) -> bool:
        """Use a key; return whether it was present."""
        self.sketch.use(key)
        if key in self.window:
            self.window.move_to_end(key)
            return True
        if key in self.protected:
            self.protected.move_to_end(key)
            return True
        if key in self.probation:
            del self.probation[key]
            self.protected[key] = None
            if len(self.protected) > self.protected_size:
                self.probation[self.protected.popitem(last=False)[0]] = None
            return True
        self.window[key] = None
        if len(self.window) > self.window_size:
            self._propose(self.window.popitem(last=False)[0])
        return False

    def _propose(self, candidate: int) -> None:
        if len(self.probation) + len(self.protected) < self.main_size:
            self.probation[candidate] = None
            return
        part = self.probation or self.protected
        if part:
            victim = next(iter(part))
            if self.sketch.frequency(candidate) > self.sketch.frequency(victim):
                del part[victim]
                self.probation[candidate] = None
