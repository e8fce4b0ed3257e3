"""What the machine has left: `MachineSensors`."""

from plait.system.sensors import PLENTY, MachineSensors

__all__ = ["PLENTY", "MachineSensors"]
