from gym_bridges.aviary_environment import main

main()
