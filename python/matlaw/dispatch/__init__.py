"""Laws that run on several devices at once."""

from matlaw._core import DeviceConfig, Scheduler, SimpleScheduler, StaticHybridScheduler, device_of_rank
from matlaw.dispatch.model import DispatchedModel, load_model

__all__ = [
    "DeviceConfig",
    "DispatchedModel",
    "Scheduler",
    "SimpleScheduler",
    "StaticHybridScheduler",
    "device_of_rank",
    "load_model",
]
