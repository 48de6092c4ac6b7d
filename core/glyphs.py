"""The glyphs that stand beside words: one SVG path each, drawn with a 1.75 px line on a 16 x 16 field.

They differ in shape, not only in colour: a state can be told in greyscale and by people who see no red or green.
"""

_RING = "M8 1.9a6.1 6.1 0 1 0 0 12.2 6.1 6.1 0 1 0 0-12.2Z"
_DASHED = (
    "M8 1.9a6.1 6.1 0 0 1 4.3 1.8M14.1 8a6.1 6.1 0 0 1-1.8 4.3M8 14.1a6.1 6.1 0 0 1-4.3-1.8M1.9 8a6.1 6.1 0 0 1 1.8-4.3"
)

GLYPHS: dict[str, str] = {
    "queued": _RING,
    "running": "M4.5 2.6v10.8L13 8Z",
    "person": "M8 2a2.8 2.8 0 1 0 0 5.6A2.8 2.8 0 1 0 8 2ZM2.6 14.2c.4-3 2.6-4.6 5.4-4.6s5 1.6 5.4 4.6",
    "timer": _RING + "M8 4.6V8l2.4 1.6",
    "signal": "M8 9.2V14M5.6 10.6a3.4 3.4 0 1 1 4.8 0M3.4 12.4a6.2 6.2 0 1 1 9.2 0",
    "child": "M4 2v7.4a2.2 2.2 0 0 0 2.2 2.2h6M10 9l2.6 2.6L10 14.2",
    "limit": "M2 13h12M3.5 13V8M8 13V3M12.5 13V6",
    "version": "M2 5.4 8 2l6 3.4v5.2L8 14l-6-3.4ZM2 5.4l6 3.2 6-3.2M8 8.6V14",
    "lookup": "M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 1 0 0-9.6ZM10.6 10.6l3.4 3.4",
    "unknown": "M8 1.4 14.6 8 8 14.6 1.4 8ZM6.4 6.5a1.6 1.6 0 1 1 2.3 1.5c-.5.2-.7.5-.7 1M8 11.2v.1",
    "done": "M2.6 8.6 6.2 12.2 13.4 4.4",
    "unverified": "M2.6 6h10.8M2.6 10.2h10.8M10.6 2 5.4 14",
    "failed": "M3.4 3.4l9.2 9.2M12.6 3.4l-9.2 9.2",
    "cancelling": _DASHED + "M5.2 8h5.6",
    "cancelled": _RING + "M3.8 12.2l8.4-8.4",
    "paused": "M5.2 3v10M10.8 3v10",
    "stopped": "M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.5-3.5V5.3ZM8 4.8v4M8 11.2v.1",
    "info": _RING + "M8 7.4v4M8 4.8v.1",
    "copy": "M5.6 5.6h7.8v7.8H5.6ZM10.4 5.6V2.6H2.6v7.8h3",
    "shield": "M8 1.8 13.4 4v3.8c0 3.2-2.2 5.4-5.4 6.4-3.2-1-5.4-3.2-5.4-6.4V4Z",
    "risk_low": "M8 4.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 1 0 0-7.6Z",
    "risk_medium": "M8 2.4 14.4 13.4H1.6Z",
    "risk_high": "M8 1.6 14.8 13.6H1.2ZM8 6v3.6M8 11.5v.1",
    "back": "M9.8 3.4 5.2 8l4.6 4.6",
    "forward": "M6.2 3.4 10.8 8l-4.6 4.6",
}
