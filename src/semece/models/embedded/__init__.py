"""Models that run in this process, by llama.cpp, and the weights of the embedded one."""
