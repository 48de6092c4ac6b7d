"""An agent that runs outside of Handrail and executes its calls itself, once the gate lets it."""
