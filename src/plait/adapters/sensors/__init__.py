"""What the machine has left: `MachineSensors`."""

from plait.adapters.sensors.machine import PLENTY, MachineSensors

__all__ = ["PLENTY", "MachineSensors"]
