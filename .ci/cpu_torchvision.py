"""Let a torchvision that was built for CUDA be imported beside a torch without it, as a plug-in of pytest.

Its compiled operators cannot be loaded then; what its import looks up among them is declared here and never called.
Resizing, which is all that processors of models use of it, is written in Python over torch.
"""

import torch

if torch.version.cuda is None:
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
