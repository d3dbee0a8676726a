"""Training of networks that read images of digits and calculate with what they read.

``layouts/`` says how images make an example, ``readers.py`` reads them, ``program.py`` is one step, and ``mnist.py``
loads the files of MNIST.
"""

from nalm.engine.images.training import ImageTrainer as ImageTrainer
