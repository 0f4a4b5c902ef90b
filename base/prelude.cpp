// A file for the precompiled headers to belong to.
