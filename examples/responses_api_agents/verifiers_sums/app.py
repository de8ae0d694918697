from gym_bridges.verifiers_agent import main

main()
