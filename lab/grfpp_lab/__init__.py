"""The laboratory of grfpp: experiments, benchmarks, the demonstration, and what runs them."""
