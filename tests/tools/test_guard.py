"""The suite reaches no other machine: not from a test, and not from a program that a test starts."""

import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org"])
def test_other_machines_are_out_of_reach(host):
    with pytest.raises(OSError, match=f"allows no network: {host}"):
        socket.create_connection((host, 80), timeout=1)


def test_web_addresses_are_out_of_reach():
    with pytest.raises(urllib.error.URLError, match="allows no network"):
        urllib.request.urlopen("http://example.org", timeout=1)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_reached(host):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    assert socket.getaddrinfo(host, 80)


def test_programs_that_a_test_starts_are_held_too():
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "NetworkBlocked: The test suite allows no network: 192.0.2.1" in done.stderr
