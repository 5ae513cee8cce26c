defmodule Plimsoll.Models do
  @moduledoc """
  The five benchmark models, M1 to M5, and data for M1 by seed.

  N(m, s) has the standard deviation s.
  """

  import Plimsoll.Model
  alias Plimsoll.Model

  @doc "The models by name: `m1` to `m5`."
  @spec fetch(String.t()) :: {:ok, Model.t()} | :error
  def fetch("m1"), do: {:ok, m1()}
  def fetch("m2"), do: {:ok, m2()}
  def fetch("m3"), do: {:ok, m3()}
  def fetch("m4"), do: {:ok, m4()}
  def fetch("m5"), do: {:ok, m5()}
  def fetch(_name), do: :error

  @doc """
  M1, the regime model as the published benchmark ran it: eight parameters, of which the data touch
  two.

      μ_trend ~ N(0, 1)      θ_mr ~ N(0, 1)      σ_trend, σ_mr ~ N⁺(0, 1)     logit w₁ ~ N(0, 1)
      y_i ~ N(μ_trend, σ_trend)    μ_mr ~ N(0, ½)      σ_vol ~ N⁺(0, 2)            logit w₂ ~ N(0, 1)
  """
  @spec m1() :: Model.t()
  def m1 do
    model "regime, as benchmarked" do
      data(y)
      param(mu_trend)
      param(sigma_trend in positive)
      param(sigma_mr in positive)
      param(sigma_vol in positive)
      param(theta_mr)
      param(mu_mr)
      param(logit_w1)
      param(logit_w2)

      mu_trend ~> normal(0, 1)
      sigma_trend ~> half_normal(1)
      sigma_mr ~> half_normal(1)
      sigma_vol ~> half_normal(2)
      theta_mr ~> normal(0, 1)
      mu_mr ~> normal(0, 0.5)
      logit_w1 ~> normal(0, 1)
      logit_w2 ~> normal(0, 1)

      y ~> normal(mu_trend, sigma_trend)
    end
  end

  @doc """
  M2, eight schools, non-centred.

      μ ~ N(0, 5)    τ ~ Cauchy⁺(5)    z_j ~ N(0, 1)    θ_j = μ + τ z_j    y_j ~ N(θ_j, σ_j)
  """
  @spec m2() :: Model.t()
  def m2 do
    model "eight schools, non-centred" do
      data(y, sigma)
      param(mu)
      param(tau in positive)
      param(z[rows(y)])

      mu ~> normal(0, 5)
      tau ~> half_cauchy(5)
      z ~> normal(0, 1)

      spread = tau * z
      theta = mu + spread
      y ~> normal(theta, sigma)
    end
  end

  @doc """
  M3, logistic regression.

      a, b_j ~ N(0, 2.5)    η = a + X b    y_i ~ Bernoulli(1/(1 + e^−η_i))
  """
  @spec m3() :: Model.t()
  def m3 do
    model "logistic regression" do
      data(X, y)
      param(a)
      param(b[columns(X)])

      a ~> normal(0, 2.5)
      b ~> normal(0, 2.5)

      slope = matvec(X, b)
      eta = a + slope
      y ~> bernoulli_logit(eta)
    end
  end

  @doc """
  M4, stochastic volatility, non-centred.

      μ ~ N(−1, 1)    φ ~ U(−1, 1)    σ ~ Cauchy⁺(2)    z_t ~ N(0, 1)
      h₁ = μ + σ z₁/√(1 − φ²)    h_t = μ + φ (h_{t−1} − μ) + σ z_t    y_t ~ N(0, e^{h_t/2})
  """
  @spec m4() :: Model.t()
  def m4 do
    model "stochastic volatility, non-centred" do
      data(y)
      param(mu)
      param(phi in interval(-1, 1))
      param(sigma in positive)
      param(z[rows(y)])

      mu ~> normal(-1, 1)
      phi ~> uniform(-1, 1)
      sigma ~> half_cauchy(2)
      z ~> normal(0, 1)

      shocks = sigma * z
      deviation = stationary_ar1(phi, shocks)
      h = mu + deviation
      half_h = h / 2
      scale = exp(half_h)
      y ~> normal(0, scale)
    end
  end

  @doc """
  M5, the regime mixture, with the priors of M1: trend, mean reversion, volatility.

      w = softmax(logit w₁, logit w₂, 0)
      y_i ~ w₁ N(μ_trend, σ_trend) + w₂ N(θ_mr μ_mr, σ_mr) + w₃ N(0, σ_vol)

  Its components can swap roles: chains rarely cross from one labelling to another, and a fit of
  several chains warns that they did not mix.
  """
  @spec m5() :: Model.t()
  def m5 do
    model "regime mixture" do
      data(y)
      param(mu_trend)
      param(sigma_trend in positive)
      param(sigma_mr in positive)
      param(sigma_vol in positive)
      param(theta_mr)
      param(mu_mr)
      param(logit_w1)
      param(logit_w2)

      mu_trend ~> normal(0, 1)
      sigma_trend ~> half_normal(1)
      sigma_mr ~> half_normal(1)
      sigma_vol ~> half_normal(2)
      theta_mr ~> normal(0, 1)
      mu_mr ~> normal(0, 0.5)
      logit_w1 ~> normal(0, 1)
      logit_w2 ~> normal(0, 1)

      mean_mr = theta_mr * mu_mr
      logits = concat(logit_w1, logit_w2, 0)
      log_w = log_softmax(logits)

      y
      ~> mixture(log_w, [
        normal(mu_trend, sigma_trend),
        normal(mean_mr, sigma_mr),
        normal(0, sigma_vol)
      ])
    end
  end
end
