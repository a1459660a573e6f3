from pikerag_client import Client

print(Client("http://localhost:8686").ask("How many repairs were there at Wrackness?").answer.text)
