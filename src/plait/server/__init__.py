"""The server: what the command line can do, for programs and for the web page. A front like the others."""
