"""The settings of a deployment, the values of its chart, and the labels of its objects."""
