# CMake asks for a file of the system's name; there is nothing that it does not know of a module already.
