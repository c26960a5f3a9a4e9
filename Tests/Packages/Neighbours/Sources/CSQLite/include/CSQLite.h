int csqlite_neighbour(void);
