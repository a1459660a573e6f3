from llama_index.retrievers.pikerag import PikeragRetriever

print(PikeragRetriever("http://localhost:8686", k=4).retrieve("How thin may a brake lining be before it is replaced?"))
