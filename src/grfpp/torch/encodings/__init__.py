"""Positional encodings of nodes."""

from grfpp.imports.lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "add_contrast_pe": "AddContrastPE",
        "add_landmark_pe": "AddLandmarkPE",
        "add_profile_pe": "AddProfilePE",
        "add_return_pe": "AddReturnPE",
        "add_smooth_pe": "AddSmoothPE",
        "transform": "AddGRFPE grf_pe",
    },
)
