"""Run the study."""

from grfpp_lab.studies.local_answers import main

if __name__ == "__main__":
    main()
