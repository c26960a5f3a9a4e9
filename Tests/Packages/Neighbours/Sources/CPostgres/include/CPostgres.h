int cpostgres_neighbour(void);
