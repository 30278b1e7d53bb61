"""A systemd unit for those who run `pagemill serve`'s server as a service of their own."""

import shlex

from tasks.work.serving.plan import Server

_UNIT = """\
[Unit]
Description=pagemill: vLLM serving {title} ({name})
After=network-online.target

[Service]
Type=exec
{environment}
{key}ExecStart={command}
Restart=on-failure
RestartSec=10
KillMode=control-group
TimeoutStopSec=60
# A server that grows without bound must not take the machine with it.
MemoryMax=80%

[Install]
WantedBy=multi-user.target
"""

_KEY = "# One line: VLLM_API_KEY=…, readable by its owner alone.\nEnvironmentFile=/etc/pagemill/{name}.env\n"


def unit(server: Server) -> str:
    """The text of `NAME.service`. The API key is not in it: it belongs into a file of its own."""
    variables = sorted(server.environment().items())
    return _UNIT.format(
        title=server.plan.profile.title,
        name=server.name,
        environment="\n".join(f'Environment="{name}={value}"' for name, value in variables if value),
        key=_KEY.format(name=server.name) if server.plan.api_key else "",
        # A dollar or percent sign would be taken for a variable or a specifier.
        command=shlex.join(server.command()).replace("%", "%%").replace("$", "$$"),
    )
