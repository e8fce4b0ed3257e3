"""Many simulated runs, every record of them audited by the laws."""
