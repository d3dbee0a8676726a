"""Captured CUDA graphs: one way to capture and replay them for all trainers."""

from collections.abc import Callable

import torch


class Graphs:
    """CUDA graphs of functions without arguments, by name; on a CPU functions are called as they are."""

    def __init__(self, device: torch.device, stream: "torch.cuda.Stream | None" = None):
        self.device, self.stream = device, stream
        self._graphs: dict[str, torch.cuda.CUDAGraph] = {}
        self._called: set[str] = set()  # what has run once, and so can be captured

    def __contains__(self, name: str) -> bool:
        return name in self._graphs

    def __len__(self) -> int:
        return len(self._graphs)

    def __call__(self, name: str, function: Callable[[], object]) -> None:
        """Call a function; on a GPU capture it on its second call, and replay it from then on."""
        if self.device.type != "cuda" or name not in self._called:
            self._called.add(name)
            function()
            return
        if name not in self:
            self.capture(name, function)
        self.replay(name)

    def capture(self, name: str, function: Callable[[], object]) -> None:
        """Capture a graph of a function that has run before; capturing runs nothing."""
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            function()
        self._graphs[name] = graph

    def replay(self, name: str) -> None:
        """Run a captured graph."""
        self._graphs[name].replay()
