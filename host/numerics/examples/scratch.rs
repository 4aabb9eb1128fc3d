fn main() {
    let args: Vec<String> = std::env::args().collect();
    let a = passdock_onnx::read(args[1].as_ref()).unwrap();
    let b = passdock_onnx::read(args[2].as_ref()).unwrap();
    let start = std::time::Instant::now();
    let outcome = passdock_numerics::compare(&a, &b, &passdock_numerics::Options::default());
    match outcome {
        passdock_numerics::Outcome::Different(d) => println!("different: {d}"),
        other => println!("{other:?}"),
    }
    println!("{:?}", start.elapsed());
}
