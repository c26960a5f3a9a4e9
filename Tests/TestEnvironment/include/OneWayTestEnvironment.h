/* Nothing to call: linking the target is enough. */
