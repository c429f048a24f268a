"""Looking at a state from outside: energy ledger, contacts. In double precision."""

from turgor.diagnose.contacts import Contacts
from turgor.diagnose.energy import Energy

__all__ = ["Contacts", "Energy"]
