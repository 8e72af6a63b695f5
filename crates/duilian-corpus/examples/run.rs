use duilian_corpus::*;
fn main() { let a: Vec<String> = std::env::args().collect();
 let config = CleanConfig { inputs: vec![Input::ChinesePoetry(a[1].clone().into())], exclude: a[3..].iter().map(Into::into).collect(), write_rejects: true, ..Default::default() };
 let t = std::time::Instant::now();
 match clean(&config, a[2].as_ref(), &mut |p| if p.step != "read" { eprintln!("{:?} {:?}", p, t.elapsed()) }) { Ok(r) => println!("{r}\n{:?}", r.scores), Err(e) => println!("{e}") } }
