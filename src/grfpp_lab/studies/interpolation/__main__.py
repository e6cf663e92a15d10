"""Run the study."""

from grfpp_lab.studies.interpolation import main

if __name__ == "__main__":
    main()
