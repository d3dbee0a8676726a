"""``attach`` inside the trainers of Lightning and transformers, with the real libraries where they are installed."""

import importlib.util
import sys

import pytest
import torch
from torch import nn

import nalm
from nalm.config import Ramp, Recipe
from nalm.networks import callbacks

X = torch.rand(64, 3, generator=torch.Generator().manual_seed(0)) + 0.5
Y = X[:, :1] * X[:, 1:2]
RECIPE = Recipe(steps=12, penalties=(("weight", Ramp(0.5, 3, 9)),))
pytestmark = pytest.mark.filterwarnings("ignore")  # of the trainers, about this machine


def network() -> nn.Sequential:
    return nn.Sequential(
        nalm.NAU(3, 2, generator=torch.Generator().manual_seed(1)), nalm.NMU.solved("multiply")
    )


def by_hand(steps: int) -> nn.Sequential:
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.2)
    nalm.attach(net, optimiser, recipe=RECIPE)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.mse_loss(net(X), Y).backward()
        optimiser.step()
    return net


def same(one, two):
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        torch.testing.assert_close(a.cpu(), b)


@pytest.mark.parametrize(
    ("name", "make"), [("lightning", "lightning_callback"), ("transformers", "transformers_callback")]
)
def test_without_the_library_one_sentence_says_what_to_install(name, make, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(nalm.NALMError, match=f"pip install {name}"):
        getattr(callbacks, make)()


@pytest.mark.skipif(importlib.util.find_spec("lightning") is None, reason="Lightning is not installed")
class TestLightning:
    """Automatic optimisation hands a closure to the optimiser, in which gradients are set to zero."""

    def trainer(self, folder, steps, callback, **options):
        import lightning

        return lightning.Trainer(
            max_steps=steps,
            accelerator="cpu",
            callbacks=[callback],
            logger=False,
            default_root_dir=folder,
            enable_progress_bar=False,
            enable_model_summary=False,
            **options,
        )

    def module(self):
        import lightning

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = network()

            def training_step(self, batch, index):
                return nn.functional.mse_loss(self.net(batch[0]), batch[1])

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.2)

        return Module()

    def data(self):
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), batch_size=64)

    def test_it_trains_as_a_loop_by_hand(self, tmp_path):
        module = self.module()
        self.trainer(tmp_path, 12, nalm.lightning_callback(recipe=RECIPE)).fit(module, self.data())
        same(module.net, by_hand(12))

    def test_a_checkpoint_goes_on_where_it_stopped(self, tmp_path):
        first = self.trainer(tmp_path, 8, nalm.lightning_callback(recipe=RECIPE, steps=12))
        first.fit(self.module(), self.data())
        first.save_checkpoint(tmp_path / "half.ckpt")
        module, second = self.module(), self.trainer(tmp_path, 12, nalm.lightning_callback(recipe=RECIPE))
        second.fit(module, self.data(), ckpt_path=tmp_path / "half.ckpt")
        assert second.optimizers[0].param_groups[0]["nalm_step"] == 12
        same(module.net, by_hand(12))

    def test_clipping_and_bfloat16_go_together_with_it(self, tmp_path):
        module, callback = self.module(), nalm.lightning_callback()
        trainer = self.trainer(tmp_path, 12, callback, precision="bf16-mixed", gradient_clip_val=1.0)
        trainer.fit(module, self.data())
        assert trainer.optimizers[0].param_groups[0]["nalm_step"] == 12
        assert not trainer.optimizers[0]._optimizer_step_post_hooks  # removed at the end
        assert module.net[0].weight.abs().max() <= 1


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
class TestTransformers:
    """The Trainer wraps the optimiser in Accelerate's, which does not call hooks."""

    def trained(self, folder, callback, resume=None, stop=None, **options):
        import transformers

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = network()

            def forward(self, x, labels):
                y = self.net(x)
                return {"loss": nn.functional.mse_loss(y, labels), "logits": y}

        class Stop(transformers.TrainerCallback):
            def on_step_end(self, args, state, control, **rest):
                control.should_training_stop = state.global_step == stop

        model = Model()
        arguments = transformers.TrainingArguments(
            output_dir=str(folder),
            max_steps=12,
            per_device_train_batch_size=64,
            learning_rate=0.2,
            lr_scheduler_type="constant",
            report_to=[],
            save_steps=8,
            use_cpu=True,
            disable_tqdm=True,
            **{"max_grad_norm": 0.0, **options},
        )
        trainer = transformers.Trainer(
            model,
            arguments,
            train_dataset=[{"x": x, "labels": y} for x, y in zip(X, Y, strict=True)],
            optimizers=(torch.optim.SGD(model.parameters(), lr=0.2), None),
            callbacks=[callback, Stop()],
        )
        trainer.train(resume_from_checkpoint=resume)
        return model, trainer

    def test_it_trains_as_a_loop_by_hand(self, tmp_path):
        model, _ = self.trained(tmp_path, nalm.transformers_callback(recipe=RECIPE))
        same(model.net, by_hand(12))

    def test_a_checkpoint_goes_on_where_it_stopped(self, tmp_path):
        self.trained(tmp_path, nalm.transformers_callback(recipe=RECIPE), stop=8)
        half = str(tmp_path / "checkpoint-8")
        model, trainer = self.trained(tmp_path, nalm.transformers_callback(recipe=RECIPE), resume=half)
        assert trainer.optimizer.param_groups[0]["nalm_step"] == 12
        same(model.net, by_hand(12))
