"""``attach`` as a callback of Lightning and of the Trainer of transformers, which build the optimiser themselves."""

from typing import TYPE_CHECKING, Any

from nalm.config import Recipe
from nalm.errors import NALMError
from nalm.networks.attachment import Attachment, attach

if TYPE_CHECKING:
    from lightning.pytorch import Callback
    from transformers import TrainerCallback


def lightning_callback(*, steps: int | None = None, recipe: Recipe | None = None) -> "Callback":
    """Return a Lightning callback that attaches the units of a LightningModule to its optimiser while it trains.

    Use it as ``Trainer(callbacks=[nalm.lightning_callback()])``. Without ``steps`` the length of the training is the
    trainer's estimate. The module must have one optimiser; with several, call ``nalm.attach`` in ``on_train_start``.
    """
    try:
        from lightning import pytorch
    except ImportError:
        raise NALMError("The callback needs Lightning: pip install lightning.") from None

    class Attached(pytorch.Callback):
        """Attach when training starts, and remove the hooks when it ends."""

        attachment: Attachment | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            if len(trainer.optimizers) != 1:
                raise NALMError(
                    f"The callback needs one optimiser, got {len(trainer.optimizers)}: call nalm.attach for each of "
                    "them in on_train_start."
                )
            length = _length(steps, recipe, trainer.estimated_stepping_batches)
            self.attachment = attach(pl_module, trainer.optimizers[0], steps=length, recipe=recipe)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            _removed(self)

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            _removed(self)

    return Attached()


def transformers_callback(*, steps: int | None = None, recipe: Recipe | None = None) -> "TrainerCallback":
    """Return a callback for the Trainer of transformers that attaches the units of the model while it trains.

    Use it as ``Trainer(..., callbacks=[nalm.transformers_callback()])``. Without ``steps`` the length of the training
    is the trainer's ``max_steps``.
    """
    try:
        import transformers
    except ImportError:
        raise NALMError("The callback needs transformers: pip install transformers accelerate.") from None

    class Attached(transformers.TrainerCallback):
        """Attach when training begins, and remove the hooks when it ends."""

        attachment: Attachment | None = None

        def on_train_begin(
            self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, **rest: Any
        ) -> None:
            length = _length(steps, recipe, state.max_steps)
            self.attachment = attach(model, optimizer, steps=length, recipe=recipe)

        def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
            _removed(self)

    return Attached()


def _length(steps: int | None, recipe: Recipe | None, known: float) -> int | None:
    """Return the number of steps of a training; an endless one needs it from the user."""
    if steps is not None:
        return steps
    if 0 < known < float("inf"):
        return int(known)
    if recipe is None:
        raise NALMError("The trainer does not know how long it trains: pass steps=... to the callback.")
    return None


def _removed(callback: Any) -> None:
    if callback.attachment is not None:
        callback.attachment.remove()
        callback.attachment = None
