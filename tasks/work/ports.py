"""Whether a server of ours could listen."""

import socket

from models.errors import Code, ConfigurationError, EnvironmentFault


def check_port(host: str, port: int) -> None:
    """Raises EnvironmentFault (port-in-use) where no server could listen, ConfigurationError for no host."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror as error:
        raise ConfigurationError(f"--host {host}: there is no such host.") from error
    except OSError as error:
        raise EnvironmentFault(
            f"Port {port} of {host} cannot be used: {error.strerror}. Choose another with --port.",
            Code.PORT_IN_USE,
        ) from error
