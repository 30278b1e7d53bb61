"""One machine from nothing to a running installation, and back: server, pools, deployments, workers."""
