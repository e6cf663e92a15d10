"""Run the study."""

from grfpp_lab.studies.distributed import main

if __name__ == "__main__":
    main()
