"""Where pages come from: one file per connector, all behind the `Source` port."""
