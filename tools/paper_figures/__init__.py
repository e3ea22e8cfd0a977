"""What the campaigns under configs/papers give, a module for each paper. A function draws one panel of the paper's
picture and returns rows (what, paper, ours) of its table."""
from paper_figures import anderson2013, barash2017, gross2018, weigel2012

PANELS = {paper.__name__.rpartition(".")[2]: paper.PANELS for paper in (weigel2012, barash2017, gross2018, anderson2013)}
