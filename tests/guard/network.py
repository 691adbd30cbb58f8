"""No network but this machine's own: a test or a notebook that reaches further fails with a sentence."""

import ipaddress
import socket

ALLOWED_NAMES = ("localhost", "", None)


class NetworkBlocked(OSError):
    """Raised instead of a connection to another machine."""


def block() -> None:
    """Allow connections and look-ups on loopback only, for this process."""
    if getattr(socket.socket, "guarded", False):
        return

    class GuardedSocket(socket.socket):
        guarded = True

        def connect(self, address):
            refuse(self, address)
            return super().connect(address)

        def connect_ex(self, address):
            refuse(self, address)
            return super().connect_ex(address)

        def sendto(self, data, *rest):
            refuse(self, rest[-1])
            return super().sendto(data, *rest)

    look_up = socket.getaddrinfo

    def guarded_look_up(host, *arguments, **keywords):
        name = host.decode() if isinstance(host, bytes) else host
        if not is_loopback(name):
            raise blocked_error(name)
        return look_up(host, *arguments, **keywords)

    socket.socket = GuardedSocket  # type: ignore[misc]
    socket.getaddrinfo = guarded_look_up


def refuse(sock: socket.socket, address) -> None:
    if sock.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
        raise blocked_error(address[0])


def is_loopback(host: str | None) -> bool:
    if host in ALLOWED_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def blocked_error(host: str) -> NetworkBlocked:
    return NetworkBlocked(f"The test suite allows no network: {host} was asked for. Make or ship the data instead.")
