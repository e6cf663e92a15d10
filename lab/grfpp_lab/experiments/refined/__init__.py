"""What pooled walks, averages and deflation add to the paper's estimator."""
