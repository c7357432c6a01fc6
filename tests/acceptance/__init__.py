"""What the whole must show, each as commands that a user types: other processes, their own homes, real tools beside."""
