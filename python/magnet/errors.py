# SPDX-License-Identifier: MIT
"""Errors that have a sentence for the user."""


class MagnetError(Exception):
    """Something that cannot be done, with what to do instead."""


class NotAvailable(MagnetError):
    """The recording does not have what was asked for; the text says why."""
