"""Run the study."""

from grfpp_lab.studies.clustering import main

if __name__ == "__main__":
    main()
