from langchain_pikerag import PikeragRetriever

print(PikeragRetriever(url="http://localhost:8686", k=4).invoke("How thin may a brake lining be before it is replaced?"))
