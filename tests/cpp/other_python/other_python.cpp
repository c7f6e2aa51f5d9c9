// Preloaded into a program: what it finds first of libpython is of another version.
extern "C" const char * Py_GetVersion()
{
  return "3.9.2 (a stand-in for another libpython)";
}
