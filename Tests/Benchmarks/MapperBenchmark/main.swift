print("mapping")
